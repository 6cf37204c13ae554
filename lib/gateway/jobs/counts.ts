/** How jobs went in one process since its start; for metrics. */
export interface JobCounts {
  opened: number;
  charged: number;
  released: number;
  lost: number;
}
