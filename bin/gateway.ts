/** The command line: the console's verbs for operators and scripts (operations.md "Command line"). */
import { runCommand } from '#lib/command/main';

process.exitCode = await runCommand(process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
});
