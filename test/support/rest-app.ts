import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A test application that listens on a port. */
export interface Served extends AsyncDisposable {
  /** The URL of the application. It is called `issuer` as in `TestServer`, so that helpers accept both. */
  readonly issuer: string
}

/** Starts an HTTP server for an application, such as an Express application. */
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
