import { createServer } from 'node:net'
import { Pool } from 'pg'
import { expect, test } from 'vitest'
import { hostConnections } from '../../src/store/sql/postgres/pool.ts'

/** A message of the PostgreSQL protocol. */
const message = (type: string, content: Buffer): Buffer => {
  const length = Buffer.alloc(4)
  length.writeInt32BE(content.length + 4)
  return Buffer.concat([Buffer.from(type), length, content])
}

const authenticated = message('R', Buffer.alloc(4))
const ready = message('Z', Buffer.from('I'))
const terminated = message('E', Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0'))

// Without an error listener on a connection, its error would end the process.
test('handles a connection that is lost at the moment when the pool provides it [T2844]', async () => {
  const errors: unknown[] = []
  const note = (error: unknown) => void errors.push(error)
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.end(Buffer.concat([authenticated, ready, terminated])))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as { port: number }
  const pool = new Pool({ host: '127.0.0.1', port, user: 'ada', ssl: false })
  pool.on('error', () => undefined)
  const before = process.listeners('uncaughtException')
  process.removeAllListeners('uncaughtException').on('uncaughtException', note)
  try {
    const connection = await hostConnections(pool, {}).acquire()
    await expect(connection.query('select 1', [], undefined)).rejects.toThrow()
    connection.release(true)
    expect(errors).toEqual([])
  } finally {
    process.removeAllListeners('uncaughtException')
    for (const listener of before) process.on('uncaughtException', listener)
    await pool.end()
    server.close()
  }
})
