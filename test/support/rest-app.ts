import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An application of a test that listens on a port. */
export interface Served extends AsyncDisposable {
  /** The URL of the application. It is called `issuer` as in `TestServer`, so that helpers accept both. */
  readonly issuer: string
}

/** Serves an application, for instance an Express one, until it is disposed of. */
export const serve = async (listener: RequestListener): Promise<Served> => {
  const http = createServer(listener)
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  return {
    issuer: `http://localhost:${(http.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        http.close(() => resolve())
        http.closeAllConnections()
      }),
  }
}
