// A served model in one file and its runtime in another: the results of the first depend on the second.
import { DefinitionRequest, type Location } from 'vscode-languageserver/node';
import { type Editor, type EditorOptions, folder, openEditor, withCursor } from './editor.ts';

export const service = `apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: chat}
spec:
  predictor:
    minReplicas: 1
    maxReplicas: 1
    model:
      modelFormat: {name: huggingface}
      runtime: $0vllm
`;
export const chat = `${folder}/apps/chat.yaml`;

export const runtime = (gpus: number) => `# one of the team's
apiVersion: serving.kserve.io/v1alpha1
kind: ServingRuntime
metadata: {name: vllm}
spec:
  nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4}
  containers:
    - name: kserve-container
      image: registry.example/vllm:1.2
      resources: {limits: {nvidia.com/gpu: ${gpus}}}
`;
export const runtimes = `${folder}/apps/runtimes.yaml`;

/** An editor whose server can list these files. */
export function openFolder(files: Record<string, string>, setup: EditorOptions = {}): Promise<Editor> {
  const host = {
    readFile: async (uri: string) => files[uri],
    listFiles: async (below: string) => Object.keys(files).filter((uri) => uri.startsWith(`${below}/`)),
  };
  return openEditor({ ...setup, host });
}

export async function titles(editor: Editor, uri: string): Promise<readonly string[]> {
  return (await editor.lenses(uri)).map(({ command }) => command?.title ?? '');
}

/** Requests lenses until that of the only workload matches: files are indexed in the background, and the timeout of the test bounds it. */
export async function untilLens(editor: Editor, uri: string, title: RegExp): Promise<void> {
  for (;;) if ((await titles(editor, uri)).some((one) => title.test(one))) return;
}

export async function define(editor: Editor, uri: string, marked: string): Promise<readonly Location[]> {
  const { position } = withCursor(marked);
  const found = await editor.connection.sendRequest(DefinitionRequest.type, { textDocument: { uri }, position });
  return (found ?? []) as Location[];
}

export const placed = ({ uri, range }: Location) =>
  `${uri.slice(folder.length + 1)}:${range.start.line}:${range.start.character}`;
