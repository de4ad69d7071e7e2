import nodeModule from 'node:module';
import process from 'node:process';
import v8 from 'node:v8';

// The start of `gpulint`. Node 22 and newer keep the compiled code of what is loaded after this line (in the temporary folder, or where
// NODE_COMPILE_CACHE says), which is a third of a start; a folder that cannot be written costs nothing. Older ones have no such function.
const { enableCompileCache } = nodeModule as { readonly enableCompileCache?: () => unknown };
enableCompileCache?.();

// Most functions of gpulint run only a few times, and V8 would spend a third of a run on optimizing them. Only measured versions: Node 20 and 22.
const budgets = new Map([
  ['11', ['--interrupt-budget=250000']],
  ['12', ['--invocation-count-for-maglev=1500', '--invocation-count-for-turbofan=10000']],
]);
for (const flag of budgets.get(process.versions.v8.split('.', 1).join()) ?? []) v8.setFlagsFromString(flag);

// An editor waits for the server, so it does not load the command line as well.
const [command, ...options] = process.argv.slice(2);
if (command === 'lsp' && options.every((option) => option === '--stdio')) {
  if (options.length === 0) process.argv.push('--stdio');
  void import('../lsp/main.ts');
} else void import('./program.ts');
