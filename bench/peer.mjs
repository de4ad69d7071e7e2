// @ts-check
// The language server that gpulint stands beside. It is installed on demand into an ignored folder: no dependency of the project.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const PEER = 'yaml-language-server';
const VERSION = '2.0.0';
const NODE = '22.23.3';
const folder = path.join(import.meta.dirname, '.peer');

/**
 * @param {string} [newer] A Node that is new enough, where the caller has one.
 * @returns {{ name: string, command: readonly string[] } | { reason: string }}
 */
export function installPeer(newer) {
  const name = `${PEER} ${VERSION}`;
  // It needs Node 22.13; where this one is older, the npm package of a Node lends its own.
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const lends = newer === undefined && (major < 22 || (major === 22 && minor < 13));
  const nodePackage = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  const node = lends ? path.join(folder, 'node_modules', nodePackage, 'bin', 'node') : (newer ?? process.execPath);
  const program = path.join(folder, 'node_modules', PEER, 'bin', PEER);
  if (!existsSync(program) || !existsSync(node)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'package.json'), '{ "private": true }\n');
    const wanted = [`${PEER}@${VERSION}`, ...(lends ? [`${nodePackage}@${NODE}`] : [])];
    const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', '--no-save', ...wanted];
    const { status, stderr } = spawnSync('npm', args, { encoding: 'utf8', shell: process.platform === 'win32' });
    if (status !== 0) return { reason: `${name} could not be installed: ${stderr.trim().split('\n').at(-1)}` };
  }
  return { name, command: [node, program, '--stdio'] };
}
