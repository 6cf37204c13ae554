import { type Answer, whole } from '#tools/sandbox/dialect';

/** One page of a list, by `after`, `limit` and `order`. @param usual the order if none is asked for. */
export function pageOf(all: readonly object[], query: URLSearchParams, usual: 'asc' | 'desc'): Answer {
  const ordered = (query.get('order') ?? usual) === 'asc' ? [...all] : [...all].reverse();
  const after = query.get('after');
  const start = after === null ? 0 : ordered.findIndex((one) => idOf(one) === after) + 1;
  const data = ordered.slice(start, start + Number.parseInt(query.get('limit') ?? '20', 10));
  const [first, last] = [data[0], data.at(-1)];
  return whole({
    object: 'list',
    data,
    first_id: first ? idOf(first) : null,
    last_id: last ? idOf(last) : null,
    has_more: start + data.length < ordered.length,
  });
}

function idOf(one: object): unknown {
  return 'id' in one ? one.id : undefined;
}
