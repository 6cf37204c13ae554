import {
  type Draft,
  dataUrl,
  given,
  type Json,
  questionOf,
  typedNumber,
} from '#lib/console/playground/draft';

type Body = { readonly [name: string]: Json };

/** A request with pictures edits them, at a separate address. */
export function imagesBody(draft: Draft): Body {
  const { text, files } = questionOf(draft);
  const { size, count, stream } = draft.settings;
  return given({
    model: draft.model,
    prompt: text,
    images: files.length > 0 ? files.map((file) => ({ image_url: dataUrl(file) })) : undefined,
    size: size.trim() || undefined,
    n: typedNumber(count),
    ...(stream ? { stream: true, partial_images: 1 } : {}),
  });
}

/** The video starts with the first picture. */
export function videosBody(draft: Draft): Body {
  const { text, files } = questionOf(draft);
  const [start] = files;
  return given({
    model: draft.model,
    prompt: text,
    seconds: draft.settings.seconds.trim() || undefined,
    size: draft.settings.size.trim() || undefined,
    input_reference: start ? { image_url: dataUrl(start) } : undefined,
  });
}

/** A video in the generate-content protocol: a long-running prediction. */
export function predictionBody(draft: Draft): Body {
  const { text, files } = questionOf(draft);
  const [start] = files;
  const image = start && { bytesBase64Encoded: start.base64, mimeType: start.mediaType };
  const parameters = given({ durationSeconds: typedNumber(draft.settings.seconds) });
  return given({
    instances: [given({ prompt: text, image })],
    parameters: Object.keys(parameters).length > 0 ? parameters : undefined,
  });
}
