/** No credentials could be obtained. The message is a clause for users. */
export class CredentialError extends Error {}

/** Why a connection failed, as a clause without secrets: certificates and tokens never occur in it. */
export function connectionWords(error: unknown): string {
  const [cause] = error instanceof AggregateError ? error.errors : [error];
  if (!(cause instanceof Error)) return 'the connection failed';
  const { code = '' } = cause as NodeJS.ErrnoException;
  return words.get(code) ?? (cause.message === '' ? 'the connection failed' : oneLine(cause.message));
}

const certificateWords = "the API server's certificate is not signed by a CA in the kubeconfig";

const words: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'the API server refuses connections; check that the cluster is running'],
  ['ENOTFOUND', "the API server's host name is unknown; check the network or VPN"],
  ['EAI_AGAIN', "the API server's host name cannot be resolved; check the network or VPN"],
  ['ETIMEDOUT', 'the API server does not answer; check the network or VPN'],
  ['EHOSTUNREACH', 'the API server is unreachable; check the network or VPN'],
  ['ENETUNREACH', 'the API server is unreachable; check the network or VPN'],
  ['ECONNRESET', 'the connection to the API server was closed'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', certificateWords],
  ['SELF_SIGNED_CERT_IN_CHAIN', certificateWords],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', certificateWords],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', certificateWords],
  ['CERT_HAS_EXPIRED', "the API server's certificate has expired"],
  ['ERR_TLS_CERT_ALTNAME_INVALID', "the API server's certificate is for another host name"],
]);

/** The first line, shortened: what a server or a plugin says may be long. */
export function oneLine(text: string): string {
  const [line = ''] = text.trim().split(/[\r\n]/, 1);
  return line.length <= 200 ? line : `${line.slice(0, 199)}…`;
}
