// @ts-check
// The language server for comparison. It is installed on demand into an ignored folder and is not a dependency of the project.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { folder, install } from './node.mjs';

const PEER = 'yaml-language-server';
const VERSION = '2.0.0';

/**
 * @param {string} node
 * @returns {{ name: string, command: readonly string[] } | { reason: string }}
 */
export function installPeer(node) {
  const name = `${PEER} ${VERSION}`;
  const program = path.join(folder, 'node_modules', PEER, 'bin', PEER);
  const problem = existsSync(program) ? undefined : install(`${PEER}@${VERSION}`);
  return problem === undefined
    ? { name, command: [node, program, '--stdio'] }
    : { reason: `${name} could not be installed: ${problem}` };
}
