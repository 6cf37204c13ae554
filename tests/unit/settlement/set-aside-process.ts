/** Sets calls aside until a write is refused, and prints the id of each that was kept. */
import { openJournal } from '#lib/gateway/settlement/journal/journal';
import { callOf, closeOf, newId } from '#tests/support/settlement';

const [dir = '', ownerId = ''] = process.argv.slice(2);
const journal = openJournal(dir, ownerId, { report: () => {}, onWritable: () => {}, onFailure: () => {} });
const customer = { workspaceId: newId(), keyId: newId() };
try {
  for (;;) {
    const entry = closeOf(callOf(customer, { flags: Array.from({ length: 9 }, () => 'x'.repeat(900)) }));
    journal.setAside(entry);
    process.stdout.write(`${entry.callId}\n`);
  }
} catch (error) {
  process.stderr.write(String(error));
}
await journal.close();
