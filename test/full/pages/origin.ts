import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A site with its own origin. */
export interface Origin extends AsyncDisposable {
  readonly origin: string
}

/** Starts a site with these files, by path. Paths that end with `.js` and `.css` get the matching type. */
export const startOrigin = async (
  files: Readonly<Record<string, () => string | Buffer>>,
): Promise<Origin> => {
  const http = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    const type = /\.js$/.test(pathname) ? 'javascript' : /\.css$/.test(pathname) ? 'css' : 'html'
    response.setHeader('content-type', `text/${type}; charset=utf-8`)
    const file = files[pathname]
    if (file) response.end(file())
    else response.writeHead(404).end()
  })
  await new Promise<void>((listens) => http.listen(0, '127.0.0.1', listens))
  return {
    origin: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: () =>
      new Promise((closed) => {
        http.close(() => closed())
        http.closeAllConnections()
      }),
  }
}
