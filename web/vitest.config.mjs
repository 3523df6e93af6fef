// The tests of web/test. Vitest binds a port for its own server; an address instead of the name localhost lets the tests run
// on a host that does not resolve that name.
export default {
  test: { api: { host: '127.0.0.1' }, pool: 'threads', isolate: false },
};
