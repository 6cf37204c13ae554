import { webLane } from '#lib/gateway/flow/web-lane';

export {
  webLane as DELETE,
  webLane as GET,
  webLane as HEAD,
  webLane as OPTIONS,
  webLane as PATCH,
  webLane as POST,
  webLane as PUT,
};
