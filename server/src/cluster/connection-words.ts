/** No credentials could be obtained. The message is a clause for users. */
export class CredentialError extends Error {}

/** Why a connection failed, as a clause without secrets: certificates and tokens never occur in it. */
export function connectionWords(error: unknown): string {
  const [cause] = error instanceof AggregateError ? error.errors : [error];
  if (!(cause instanceof Error)) return 'the connection failed';
  const { code = '' } = cause as NodeJS.ErrnoException;
  return words.get(code) ?? (cause.message === '' ? 'the connection failed' : oneLine(cause.message));
}

const certificateWords = 'the certificate of the API server is not signed by an authority that the kubeconfig names';

const words: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'the API server accepts no connections; check that the cluster runs'],
  ['ENOTFOUND', 'the host name of the API server is unknown; check the network or VPN'],
  ['EAI_AGAIN', 'the host name of the API server cannot be looked up; check the network or VPN'],
  ['ETIMEDOUT', 'the API server does not answer; check the network or VPN'],
  ['EHOSTUNREACH', 'no network leads to the API server; check the network or VPN'],
  ['ENETUNREACH', 'no network leads to the API server; check the network or VPN'],
  ['ECONNRESET', 'the connection to the API server was closed'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', certificateWords],
  ['SELF_SIGNED_CERT_IN_CHAIN', certificateWords],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', certificateWords],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', certificateWords],
  ['CERT_HAS_EXPIRED', 'the certificate of the API server has expired'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'the certificate of the API server is for another host name'],
]);

/** The first line, shortened: what a server or a plugin says may be long. */
export function oneLine(text: string): string {
  const [line = ''] = text.trim().split(/[\r\n]/, 1);
  return line.length <= 200 ? line : `${line.slice(0, 199)}…`;
}
