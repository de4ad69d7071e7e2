// Serves the extension from the workbench's own origin, as vscode.dev does: the browser's policies allow no other. Workers that are started by
// workers ask here too, whatever a driver of the browser sees of them.
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';

export interface ExtensionServer {
  /** Host and port, as in http://<authority>/. */
  readonly authority: string;
  /** The files of the extension that were asked for, as paths from its root. */
  readonly served: ReadonlySet<string>;
  readonly stop: () => Promise<void>;
}

/**
 * Answers for the files below `folder`, and hands everything else, sockets too, to the workbench's server on 127.0.0.1.
 * @param folder the extension's place in addresses, `/extension`
 * @param root the extension's files
 */
export async function serveExtension(port: number, folder: string, root: string): Promise<ExtensionServer> {
  const served = new Set<string>();
  const sockets = new Set<net.Socket>();
  const server = http.createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://127.0.0.1');
    if (pathname.startsWith(`${folder}/`)) {
      const name = decodeURIComponent(pathname.slice(folder.length + 1));
      const file = path.join(root, name);
      if (!fs.existsSync(file) || fs.statSync(file).isDirectory()) return void response.writeHead(404).end();
      served.add(name);
      response.setHeader('content-type', name.endsWith('.js') ? 'text/javascript' : 'application/json');
      return void response.end(fs.readFileSync(file));
    }
    const { method, url, headers } = request;
    const onward = http.request({ host: '127.0.0.1', port, method, path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.writeHead(502).end());
    request.pipe(onward);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('upgrade', (request, socket, head) => {
    const onward = net.connect(port, '127.0.0.1', () => {
      const lines = [`${request.method} ${request.url} HTTP/1.1`];
      for (let at = 0; at < request.rawHeaders.length; at += 2)
        lines.push(`${request.rawHeaders[at]}: ${request.rawHeaders[at + 1]}`);
      onward.write(`${lines.join('\r\n')}\r\n\r\n`);
      onward.write(head);
      socket.pipe(onward).pipe(socket);
    });
    socket.on('error', () => onward.destroy());
    onward.on('error', () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port: own } = server.address() as net.AddressInfo;
  const stop = async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  return { authority: `127.0.0.1:${own}`, served, stop };
}
