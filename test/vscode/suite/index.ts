// The entry point of the extension host: runs the suites in this folder with mocha and writes the counts for the caller.
import fs from 'node:fs';
import path from 'node:path';
import Mocha from 'mocha';

export async function run(): Promise<void> {
  const mocha = new Mocha({
    ui: 'bdd',
    timeout: 60_000,
    color: false,
    ...(process.env.GPULINT_TEST_GREP ? { grep: process.env.GPULINT_TEST_GREP } : {}),
  });
  const suites = fs.readdirSync(__dirname).filter((name) => name.endsWith('.test.js'));
  for (const name of suites.sort()) mocha.addFile(path.join(__dirname, name));
  const stats = await new Promise<Mocha.Stats | undefined>((resolve) => {
    const runner = mocha.run(() => resolve(runner.stats));
  });
  if (!stats) throw new Error('mocha counted nothing');
  const counts = { passed: stats.passes, failed: stats.failures, skipped: stats.pending };
  if (process.env.GPULINT_TEST_RESULT) fs.writeFileSync(process.env.GPULINT_TEST_RESULT, JSON.stringify(counts));
  if (counts.failed > 0) throw new Error(`${counts.failed} of ${counts.passed + counts.failed} tests failed`);
}
