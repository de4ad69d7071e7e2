import nodeModule from 'node:module';
import process from 'node:process';
import v8 from 'node:v8';

// The start of `gpulint`. Node 22 and newer keep the compiled code of what is loaded after this line (in the temporary folder, or where
// NODE_COMPILE_CACHE says), which is a third of a start; a folder that cannot be written costs nothing. Older ones have no such function.
const { enableCompileCache } = nodeModule as { readonly enableCompileCache?: () => unknown };
enableCompileCache?.();

// Much of gpulint runs only a few times, and V8 would spend a third of a run on optimizing it. Versions of V8 that nobody has measured keep their own
// budget.
const [major = 0] = process.versions.v8.split('.').map(Number);
if (major >= 11 && major <= 14) v8.setFlagsFromString('--interrupt-budget=250000');

// An editor waits for the server, so it does not load the command line as well.
const [command, ...options] = process.argv.slice(2);
if (command === 'lsp' && options.every((option) => option === '--stdio')) {
  if (options.length === 0) process.argv.push('--stdio');
  void import('../lsp/main.ts');
} else void import('./program.ts');
