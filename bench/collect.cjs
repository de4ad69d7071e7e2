// Preloaded with `--expose-gc` into a server whose memory is measured: garbage is collected as soon as the server is idle.
let idle;
const collect = globalThis.gc ?? (() => undefined);
process.stdin.on('data', () => {
  clearTimeout(idle);
  idle = setTimeout(collect, 250);
  idle.unref();
});
