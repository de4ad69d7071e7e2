import { UsageError } from '../usage-error.ts';

/**
 * Why a cluster cannot be read, with what to type if the message leaves that to the editor's settings.
 * @param file how this command names a kubeconfig
 */
export function clusterFailure(message: string | null, file: string): UsageError {
  if (message === null) return new UsageError('the cluster cannot be read');
  return new UsageError(message.startsWith('No kubeconfig: ') ? `${message}; ${file}` : message);
}
