import { wordSet } from '../catalog/word-patterns.ts';
import { useOf } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';

/** What the HTTP server of a container answers. */
export interface ServerPaths {
  readonly name: string;
  /** The path of its health check. */
  readonly health: string;
  /** The port of its API; undefined if unknown. */
  readonly port: string | undefined;
}

/** The paths of a container that certainly runs the server of vLLM or Ollama, without anything that adds others. */
export function serverPaths(container: Container): ServerPaths | undefined {
  const { type, image, command, args, env } = container;
  const { program } = useOf(container);
  if (type === 'init' || (program !== 'vllm' && program !== 'ollama')) return undefined;
  const words = [...command, ...args].map(({ value }) => value).join(' ');
  const name = image?.value ?? container.repository ?? '';
  if (program === 'ollama') {
    // https://github.com/ollama/ollama/blob/main/server/routes.go
    if (command.length > 0 || !/(?:^|\/)ollama\/ollama(?:[:@]|$)/.test(name)) return undefined;
    const host = env.find((one) => one.name === 'OLLAMA_HOST');
    const isPlain = host === undefined || (host.value !== undefined && !/:|\$/.test(host.value.value));
    return { name: 'Ollama', health: '/', port: isPlain ? '11434' : undefined };
  }
  // Middleware and the servers of other kinds of models can answer anything.
  if (/--(?:middleware|omni)/.test(words)) return undefined;
  if (!/(?:^|\/)vllm-openai[^/]*$/.test(name) && !/\bvllm serve\b|\bvllm\.entrypoints\.openai\b/.test(words))
    return undefined;
  const own = /--port[= ]+["']?(\d+)/.exec(words)?.[1];
  return { name: 'vLLM', health: '/health', port: own ?? (/--port/.test(words) ? undefined : '8000') };
}

/** Whether a path is an address of health checks that neither of them has. */
export function isForeignHealthPath(path: string, { health }: ServerPaths): boolean {
  return (
    path !== health && (path === '/' || foreign.has(path.replace(/\/$/, '')) || (health === '/' && ownOfVllm.has(path)))
  );
}

/** What `helm create`, Kubernetes, Triton, NIM and others use. */
const foreign = wordSet(
  '/healthz /livez /readyz /live /ready /liveness /readiness /healthcheck /api/health /v1/health /v1/health/live',
  '/v1/health/ready /v2/health/live /v2/health/ready',
);

const ownOfVllm: ReadonlySet<string> = new Set(['/health', '/ping']);
