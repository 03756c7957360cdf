import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AuthorizationServer, createAuthorizationServer } from 'svc-oauth2server'
import { sqlite } from 'svc-oauth2server/sqlite'
import { createApp } from '../../examples/notes/app.ts'
import { openNotes } from '../../examples/notes/notes.ts'
import { registerSample } from '../../examples/notes/sample-application/register.ts'
import { type FillSample, type Mailbox, type Sample, sampleClock, sampleOptions } from './sample.ts'

/** The notes example with the embedded authorization server and a sample in its database. */
export interface SampleServer extends AsyncDisposable {
  readonly server: AuthorizationServer
  readonly sample: Sample
  readonly mailbox: Mailbox
}

/**
 * Starts the notes example on a free port with a temporary database. The clock and the random values are the same in
 * every run.
 */
export const startSampleServer = async (fill: FillSample): Promise<SampleServer> => {
  const folder = await mkdtemp(join(tmpdir(), 'oauth2server-pictures-'))
  const http = createServer()
  await new Promise<void>((listens) => http.listen(0, '127.0.0.1', listens))
  const { port } = http.address() as AddressInfo
  const clock = sampleClock(Date.UTC(2026, 9, 16, 14, 5))
  const mailbox: Mailbox = new Map()
  const server = await createAuthorizationServer({
    ...sampleOptions(clock, mailbox),
    issuer: `http://localhost:${port}`,
    secretKeys: ['a secret key for pictures, and for pictures alone'],
    store: sqlite(join(folder, 'sample.sqlite')),
    random: newDeterministicRandom(),
    log: () => undefined,
  })
  const notes = openNotes(undefined, clock.now)
  const sample = await fill(server, clock)
  const { viewer } = sample
  for (const text of ['Return the library books', 'Call the plumber', 'Book a table for Friday'])
    notes.add({ owner: String(viewer.id), text })
  const sampleClientId = await registerSample(server, viewer.id, server.issuer)
  const demo = { email: viewer.email, sampleClientId }
  http.on(
    'request',
    createApp(server, notes, () => demo),
  )
  return {
    server,
    sample,
    mailbox,
    [Symbol.asyncDispose]: async () => {
      http.close()
      http.closeAllConnections()
      notes.close()
      await server.close()
      await rm(folder, { recursive: true })
    },
  }
}

// Use deterministic values, so that a screenshot changes only if its page changes.
const newDeterministicRandom = () => {
  let drawn = 0
  return (bytes: number): Uint8Array => {
    const blocks = Array.from({ length: Math.ceil(bytes / 32) }, () => {
      drawn += 1
      return createHash('sha256').update(`picture ${drawn}`).digest()
    })
    return Buffer.concat(blocks).subarray(0, bytes)
  }
}
