/**
 * The part of `npm test`'s environment that is passed to the programs that tests start. With the cache of
 * compiled modules, a gateway starts in half the time.
 */
export function inherited() {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  return { PATH, HOME, ...(NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE } : {}) };
}
