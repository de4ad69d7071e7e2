import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { inject } from 'vitest';

/** The program under the name that the configurations start. */
export function installGpulint(folder: string): void {
  const program = path.join(folder, 'gpulint');
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${inject('programs')}/server.js" "$@"\n`);
  chmodSync(program, 0o755);
}

/** A configuration as docs/editors.md gives it: the block whose fence says that it is tested. */
export function testedConfig(language: string): string {
  const doc = readFileSync(new URL('../../docs/editors.md', import.meta.url), 'utf8');
  const config = new RegExp(`^\`\`\`${language} tested\\n([\\s\\S]*?)^\`\`\``, 'm').exec(doc)?.[1];
  if (config === undefined) throw new Error(`docs/editors.md has no tested configuration in ${language}`);
  return config;
}

/** The surroundings of an editor that has the program on its path, and writes its logs and state beside the test. */
export function editorEnvironment(folder: string, seen: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    PATH: `${folder}${path.delimiter}${process.env.PATH}`,
    HOME: folder,
    XDG_CACHE_HOME: folder,
    XDG_CONFIG_HOME: folder,
    XDG_STATE_HOME: folder,
    XDG_DATA_HOME: folder,
    GPULINT_SEEN: seen,
  };
}

export const pod = `apiVersion: v1
kind: Pod
metadata:
  name: render
spec:
  restartPolicy: Never
  nodeSelector:
    nvidia.com/gpu.product: NVIDIA-A100-SXM4-40GB
  containers:
    - name: render
      image: ghcr.io/example/render:1.0
      command: [python, render.py]
      resources:
        requests:
          nvidia.com/gpu: 1
`;
