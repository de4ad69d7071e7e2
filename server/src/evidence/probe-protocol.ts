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
  return mentions(container, tlsWords) ? undefined : { protocol: 'HTTPS', at: scheme };
}

/** `--grpc`, `--grpc-mode`, `vllm.entrypoints.grpc_server`. */
const grpcWords = /grpc/;

/** `--ssl-keyfile`, `--ssl-key-file`, `VLLM_SSL_CERTFILE`, and a file of settings. */
const tlsWords = /ssl|tls|cert|config/i;

function mentions({ command, args, env }: Container, words: RegExp): boolean {
  const lines = [...command, ...args].map(({ value }) => value);
  return lines.some((line) => words.test(line)) || (words === tlsWords && env.some(({ name }) => words.test(name)));
}
