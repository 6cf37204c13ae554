/** The command line: the console's verbs for operators and scripts (contract: operations/command-line). */
import { runCommand } from '#lib/programs/command/main';

// A reader that has seen enough (`| head`) ends the output, and not the command.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error) => {
    if (!('code' in error) || error.code !== 'EPIPE') throw error;
  });
}

process.exitCode = await runCommand(process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
});
