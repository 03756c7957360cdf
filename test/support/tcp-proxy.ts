import { connect, createServer, type Socket } from 'node:net'
import { freePort } from './processes.ts'

/** Receives bytes of one direction of a connection, and returns the bytes to forward; undefined drops them. */
export type Pass = (bytes: Buffer) => Buffer | undefined

/** Starts a proxy between a client and a server that can drop traffic, with or without closing a connection. */
export const startProxy = async (
  target: string,
  /**
   * Returns the functions that handle the bytes of one connection. Called once for each connection.
   * @param close closes the connection on both sides
   */
  watch: (close: () => void) => { readonly toServer: Pass; readonly toClient: Pass },
): Promise<AsyncDisposable & { readonly url: string }> => {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  const pipe = (from: Socket, to: Socket, pass: Pass) => {
    sockets.add(from)
    from.on('data', (bytes) => {
      const passed = pass(bytes)
      if (passed?.length) to.write(passed)
    })
    from.on('error', () => undefined)
    from.on('close', () => {
      sockets.delete(from)
      to.destroy()
    })
  }
  const proxy = createServer((client) => {
    const server = connect(Number(port || 5432), hostname)
    const { toServer, toClient } = watch(() => {
      client.destroy()
      server.destroy()
    })
    pipe(client, server, toServer)
    pipe(server, client, toClient)
  })
  const own = await freePort()
  await new Promise<void>((resolve) => {
    proxy.listen(own, '127.0.0.1', resolve)
  })
  return {
    url: Object.assign(new URL(target), { hostname: '127.0.0.1', port: `${own}` }).href,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => {
        proxy.close(resolve)
      })
    },
  }
}
