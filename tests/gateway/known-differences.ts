import {
  badEscapes,
  badFraming,
  connect,
  nodeAnswers,
  type RawRequest,
  rareMethods,
  rewrittenTargets,
} from '#tests/support/raw-requests';

/** A header that Next adds to whatever a route answers. */
export const addedHeaders: readonly string[] = ['vary'];

/**
 * Where a host that runs only Next answers by itself, before the pipeline can: the one list of known
 * differences between the lanes. Behind this project's own server none of them shows.
 */
export const knownDifferences: readonly { readonly why: string; readonly requests: readonly RawRequest[] }[] =
  [
    { why: "Node's parser refuses the bytes", requests: [...badFraming, ...connect] },
    { why: 'Node answers in place of a handler', requests: nodeAnswers },
    { why: 'Next knows seven methods', requests: rareMethods },
    { why: 'Next decodes the path and fails', requests: badEscapes },
    { why: 'Next redirects or normalises the target', requests: rewrittenTargets },
  ];
