import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { Analysis } from '../../server/src/analysis.ts';
import { root, runtime, service } from './project.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Computes everything about a file. */
function look(analysis: Analysis, name: string): void {
  for (const { findings, costed } of analysis.file(`${root}/${name}`)?.documents ?? []) void [findings, costed];
}

/** The target of a WeakRef can stay alive until the end of the turn that created it. */
async function areGone(references: readonly WeakRef<object>[]): Promise<readonly boolean[]> {
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  return references.map((reference) => reference.deref() === undefined);
}

test('the analysis of a file is released when it is closed, although other files looked it up', async () => {
  const analysis = new Analysis({ strict: true });
  const open = (): readonly WeakRef<object>[] => {
    analysis.setFile(`${root}/chat.yaml`, service);
    const file = analysis.setFile(`${root}/runtime.yaml`, runtime(2));
    look(analysis, 'runtime.yaml');
    look(analysis, 'chat.yaml');
    const [document] = file.documents;
    return [file, document?.document, document?.workloads[0]].flatMap((one) => (one ? [new WeakRef<object>(one)] : []));
  };
  const references = open();
  expect(references).toHaveLength(3);
  analysis.removeFile(`${root}/runtime.yaml`);
  look(analysis, 'chat.yaml');
  expect(await areGone(references)).toEqual([true, true, true]);
});

test('an analysis before an edit is released, although a document moves with every edit', async () => {
  const analysis = new Analysis({ strict: true });
  const edit = (round: number): WeakRef<object> => {
    const text = `${'# a line above\n'.repeat(round)}---\n${runtime(1 + (round % 4))}---\n${service}`;
    const file = analysis.setFile(`${root}/chat.yaml`, text);
    look(analysis, 'chat.yaml');
    return new WeakRef(file.documents.at(-1) ?? file);
  };
  const references = [1, 2, 3, 4, 5, 6, 7, 8].map(edit);
  // The last two rounds may stay: the newest, and the one that it derives from.
  expect((await areGone(references)).slice(0, 6)).toEqual([true, true, true, true, true, true]);
});

test('a document that is not edited does not keep the version of the file from which it was read', async () => {
  const analysis = new Analysis({ strict: true });
  const padding = `# ${'padding '.repeat(2000)}\n`;
  const documents = Array.from({ length: 40 }, () => `${padding}${runtime(1)}`);
  const edit = (): void => {
    analysis.setFile(`${root}/many.yaml`, documents.join('---\n'));
    look(analysis, 'many.yaml');
  };
  edit();
  collect();
  const before = process.memoryUsage().heapUsed;
  // Each round edits another document, so each document comes from another version.
  for (const index of documents.keys()) {
    documents[index] = `${padding}${runtime(2)}`;
    edit();
  }
  const version = documents.join('').length;
  // The last result of a turn can stay alive until its end.
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  expect((process.memoryUsage().heapUsed - before) / version).toBeLessThan(8);
});
