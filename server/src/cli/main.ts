import process from 'node:process';
import { isatty } from 'node:tty';
import v8 from 'node:v8';
import { runBundle, runServer } from '../process/compiled-code.ts';

// The start of `gpulint`. Most functions of gpulint run only a few times, and V8 would spend a third of a run on optimizing them. Only measured versions: Node 20 and 22.
const budgets = new Map([
  ['11', ['--interrupt-budget=2000000']],
  ['12', ['--invocation-count-for-maglev=3000', '--invocation-count-for-turbofan=20000']],
]);
for (const flag of budgets.get(process.versions.v8.split('.', 1).join()) ?? []) v8.setFlagsFromString(flag);

// An editor waits for the server, so it does not load the command line as well.
const [command, ...options] = process.argv.slice(2);
if (command === 'lsp' && options.every((option) => option === '--stdio')) {
  if (options.length === 0) process.argv.push('--stdio');
  if (isatty(0)) process.stderr.write('gpulint: the language server waits for an editor; press Ctrl+C to stop it\n');
  runServer();
} else runBundle('commands.js');
