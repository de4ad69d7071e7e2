// A hover that is requested while other files are being read waits for them. After a timeout, it is marked as incomplete. So does a lens that would ask for
// the card that one of them may name.
import { expect, test } from 'vitest';
import type { Hover } from 'vscode-languageserver/node';
import { type Editor, openEditor, withCursor } from './editor.ts';
import { chat, runtime, runtimes, service } from './served-model.ts';

const incomplete = 'Incomplete: gpulint is still reading other files of the workspace';

function textOf(hover: Hover | null): string {
  return hover === null ? '' : (hover.contents as { value: string }).value;
}

async function openWith(listing: Promise<unknown>): Promise<() => Promise<string>> {
  const host = {
    readFile: async (uri: string) => (uri === runtimes ? runtime(4) : undefined),
    listFiles: async () => {
      await listing;
      return [runtimes];
    },
  };
  const editor: Editor = await openEditor({ host });
  const { text, position } = withCursor(service.replace('$0', '').replace('kind:', 'ki$0nd:'));
  await editor.open(chat, text);
  return async () => textOf(await editor.hover(chat, position));
}

test('is returned when they are read', async () => {
  let end: (value?: unknown) => void = () => undefined;
  const hover = await openWith(
    new Promise((resolve) => {
      end = resolve;
    }),
  );
  const early = hover();
  setTimeout(end, 50);
  expect(await early).toMatch(/4 × L4/);
  expect(await early).not.toContain(incomplete);
});

test('is marked as incomplete after the timeout', async () => {
  let end: () => void = () => undefined;
  const listing = new Promise<string[]>((resolve) => {
    end = () => resolve([]);
  });
  const editor = await openEditor({ host: { readFile: async () => undefined, listFiles: () => listing } });
  const { text, position } = withCursor(pod);
  await editor.open(chat, text);
  const early = textOf(await editor.hover(chat, position));
  expect(early).toMatch(new RegExp(`L4[\\s\\S]*\n\n${incomplete}$`));
  end();
  expect(textOf(await editor.hover(chat, position))).toBe(early.replace(`\n\n${incomplete}`, ''));
});

test('a lens does not ask for a card that a file names which is being read', async () => {
  let end: (value?: unknown) => void = () => undefined;
  const listing = new Promise((resolve) => {
    end = resolve;
  });
  const pool = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpus}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [g6.xlarge]}]
`;
  const host = {
    readFile: async (uri: string) => (uri === runtimes ? pool : undefined),
    listFiles: async () => {
      await listing;
      return [runtimes];
    },
  };
  const editor = await openEditor({ host });
  const selecting = pod.replace('$0', '').replace('nvidia.com/gpu.product: NVIDIA-L4', 'karpenter.sh/nodepool: gpus');
  await editor.open(chat, selecting);
  const early = editor.lenses(chat);
  setTimeout(end, 50);
  expect((await early).map(({ command }) => command?.title)).toEqual([expect.stringMatching(/^1 × L4 · \$0\.80\/h/)]);
});

const pod = `apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4}
  containers:
    - {name: a, image: registry.example/a:1, resources: {limits: {nvidia.com/gpu: $01}}}
`;
