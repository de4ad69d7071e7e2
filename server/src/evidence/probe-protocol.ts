import { oneOf } from '../catalog/word-patterns.ts';
import type { Container } from '../model/workload.ts';
import { asText, type Cursor, getIn, isUnseen, keyOf } from '../yaml/cursor.ts';

/** A protocol other than HTTP. */
export interface OtherProtocol {
  readonly protocol: 'gRPC' | 'HTTPS';
  readonly at: Cursor;
}

/** The protocol of a probe's request, if it is not HTTP and nothing turns it on in the container. */
export function otherProtocol(request: Cursor | undefined, container: Container): OtherProtocol | undefined {
  const [port, scheme] = [getIn(request, 'port'), getIn(request, 'scheme')];
  if (request !== undefined && port !== undefined && keyOf(request) === 'grpc')
    return mentions(container, grpcWords) ? undefined : { protocol: 'gRPC', at: port };
  if (scheme === undefined || isUnseen(scheme) || asText(scheme) !== 'HTTPS') return undefined;
  return mayServeTls(container) ? undefined : { protocol: 'HTTPS', at: scheme };
}

/** `--grpc`, `--grpc-mode`, `vllm.entrypoints.grpc_server`. */
const grpcWords = /grpc/;

/** `--ssl-keyfile`, `--ssl-key-file`, `VLLM_SSL_CERTFILE`, and a file of settings. */
const tlsWords = /ssl|tls|cert|config/i;

function mentions({ command, args }: Pick<Container, 'command' | 'args'>, words: RegExp): boolean {
  return [...command, ...args].some(({ value }) => words.test(value));
}

/** Whether flags, variables or the entrypoint of an image of one's own may turn TLS on. */
function mayServeTls(container: Container): boolean {
  const { image, command, env } = container;
  const isOwnImage = command.length === 0 && !publishedServer.test(image?.value ?? '');
  const isSet = env.some(({ name, value }) => tlsWords.test(name) || tlsWords.test(value?.value ?? ''));
  return isOwnImage || isSet || mentions(container, tlsWords) || tlsWords.test(image?.value ?? '');
}

const publishedServer = new RegExp(
  `^(?:docker\\.io/)?(?:${oneOf('vllm/vllm-openai lmsysorg/sglang ollama/ollama')})(?:[:@]|$)|^ghcr\\.io/ggml-org/llama\\.cpp:`,
);
