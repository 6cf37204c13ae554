import {
  badEscapes,
  badFraming,
  connect,
  nodeAnswers,
  type RawRequest,
  rareMethods,
  rewrittenTargets,
} from '#tests/gateway/raw-requests';

/** A header that Next adds to whatever a route answers. */
export const addedHeaders: readonly string[] = ['vary'];
/** Headers that Next takes from whatever a route answers: it frames the body itself. */
export const droppedHeaders: readonly string[] = ['content-length', 'content-encoding'];

/**
 * Where a host that runs only Next answers by itself, before the pipeline can: the one list of known
 * differences between the lanes. Behind this project's own server none of them shows.
 */
export const knownDifferences: readonly { readonly why: string; readonly requests: readonly RawRequest[] }[] =
  [
    {
      why: 'Node answers what it takes for bad framing',
      requests: [...badFraming, ...connect, ...nodeAnswers],
    },
    { why: 'Next knows seven methods', requests: rareMethods },
    {
      why: 'Next decodes, redirects or normalises the path',
      requests: [...badEscapes, ...rewrittenTargets],
    },
  ];
