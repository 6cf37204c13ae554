import { manageOnWeb } from '#lib/console/management/web';

export {
  manageOnWeb as DELETE,
  manageOnWeb as GET,
  manageOnWeb as HEAD,
  manageOnWeb as OPTIONS,
  manageOnWeb as PATCH,
  manageOnWeb as POST,
  manageOnWeb as PUT,
};
