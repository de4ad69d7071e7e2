// Writes the files generated from the rules, and the table of the API's types. With --check, it writes nothing and fails if a file is stale.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { generatedFiles, staleFiles } from './generated-files.ts';

async function main(): Promise<void> {
  const outputs = await generatedFiles();
  const stale = staleFiles(outputs);
  if (process.argv.includes('--check')) {
    if (stale.length === 0) return;
    console.error(`Stale generated files: ${stale.join(', ')}. Run: npm run generate`);
    process.exitCode = 1;
    return;
  }
  for (const path of stale) {
    const text = outputs.get(path);
    if (text === undefined) rmSync(path);
    else {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    }
  }
  console.log(`${stale.length} of ${outputs.size} generated files written.`);
}

void main();
