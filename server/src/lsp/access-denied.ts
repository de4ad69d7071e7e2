/** An error with the reason why a file is not read, as a clause for the log. */
export function accessDenied(reason: string): Error {
  const error = new Error(reason);
  error.name = name;
  return error;
}

export function isAccessDenied(error: unknown): error is Error {
  return error instanceof Error && error.name === name;
}

const name = 'AccessDenied';

export const outside = 'is outside the workspace folders';
