import { toast } from '#components/ui/toaster';

const firstWaitMs = 1_000;
const mostWaitMs = 8_000;
const id = 'part-of-page';

/**
 * Loads a part of a page and retries until it succeeds: an error would take down the whole page, along with
 * everything typed there.
 */
export async function untilLoaded<Part>(load: () => Promise<Part>): Promise<Part> {
  let waitMs = firstWaitMs;
  for (;;) {
    try {
      const part = await load();
      if (waitMs > firstWaitMs) toast.dismiss(id);
      return part;
    } catch {
      toast.error('Part of this page did not load', {
        id,
        description: 'Trying again. If this message stays, reload the page.',
        duration: Number.POSITIVE_INFINITY,
      });
    }
    const wait = waitMs;
    await new Promise((resolve) => setTimeout(resolve, wait));
    waitMs = Math.min(waitMs * 2, mostWaitMs);
  }
}
