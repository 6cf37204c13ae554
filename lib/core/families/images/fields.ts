import type { FieldSpec } from '#lib/core/families/scan';

/** What the gateway reads of a request for images, JSON or multipart (contract: body/guarded-names). */
export const generateFields: FieldSpec = {
  model: {},
  stream: { part: 'boolean' },
  n: { part: 'number' },
  size: {},
  quality: {},
  service_tier: {},
  partial_images: { part: 'number' },
  output_format: {},
  frame_count: { part: 'number' },
  svg: { fields: { model: {} } },
};

/** An edit names its pictures in a list, or brings them as files. */
export const editFields: FieldSpec = {
  ...generateFields,
  images: { each: { image_url: { unread: true }, file_id: {} } },
  mask: { fields: { file_id: {} }, part: 'file' },
};
