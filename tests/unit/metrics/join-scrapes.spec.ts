import { expect, it } from 'vitest';
import { joinScrapes } from '#lib/programs/metrics/join-scrapes';

const scrape = (worker: number, more = '') => `# HELP calls_total Calls.
# TYPE calls_total counter
calls_total{status="2xx",worker="${worker}"} ${worker}

# HELP wait_ms Waits.
# TYPE wait_ms histogram
wait_ms_bucket{le="1",worker="${worker}"} 1
wait_ms_count{worker="${worker}"} 1
${more}`;

it('joins scrapes into one that has each metric once, with the samples of all', () => {
  const joined = joinScrapes([
    scrape(1),
    scrape(2, '\n# HELP late Late.\n# TYPE late gauge\nlate{worker="2"} 1\n'),
  ]);
  expect(joined).toBe(`# HELP calls_total Calls.
# TYPE calls_total counter
calls_total{status="2xx",worker="1"} 1
calls_total{status="2xx",worker="2"} 2

# HELP wait_ms Waits.
# TYPE wait_ms histogram
wait_ms_bucket{le="1",worker="1"} 1
wait_ms_count{worker="1"} 1
wait_ms_bucket{le="1",worker="2"} 1
wait_ms_count{worker="2"} 1

# HELP late Late.
# TYPE late gauge
late{worker="2"} 1
`);
});
