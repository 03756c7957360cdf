import { appendFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { lacks, unshareMounts } from '../support/needs.ts'
import {
  freePort,
  notesEnvironment,
  notesProgram,
  Program,
  temporaryFolder,
} from '../support/processes.ts'

const mount = 'mount -t tmpfs -o size=8m tmpfs "$0" && exec "$@"'

/** Starts the notes application with its database on a private file system of a few megabytes. */
const startOnSmallDisk = async () => {
  const folder = await temporaryFolder()
  const port = await freePort()
  const command = ['sh', '-c', mount, folder.path, process.execPath, notesProgram]
  const program = new Program('unshare', [...unshareMounts, ...command], {
    env: notesEnvironment(port, folder.path),
  })
  await program.says(/Stop with Ctrl-C/)
  const ballast = join(`/proc/${program.pid}/root`, folder.path, 'ballast')
  return {
    program,
    url: `http://localhost:${port}`,
    async fill() {
      const block = Buffer.alloc(4_096)
      for (;;) {
        try {
          await appendFile(ballast, block)
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return
          throw error
        }
      }
    },
    makeRoom: () => rm(ballast),
    async [Symbol.asyncDispose]() {
      await program.crash()
      await folder[Symbol.asyncDispose]()
    },
  }
}

const seconds = 1_000

test.skipIf(await lacks('own mounts'))(
  '/health/ready returns 503 while the disk is full, and the server logs each change of the status once',
  async () => {
    await using server = await startOnSmallDisk()
    const ready = async () => {
      const response = await fetch(`${server.url}/health/ready`)
      await response.body?.cancel()
      return response.status
    }
    const count = (event: string) => server.program.stderr.split(`"event":"${event}"`).length - 1
    const becomes = (status: number) =>
      vi.waitFor(async () => expect(await ready()).toBe(status), {
        timeout: 60 * seconds,
        interval: 100,
      })
    const stays = async (status: number) => {
      for (let times = 0; times < 20; times += 1) expect(await ready()).toBe(status)
    }
    await stays(200)
    await server.fill()
    await becomes(503)
    await stays(503)
    expect((await fetch(`${server.url}/health/live`)).status).toBe(200)
    await server.makeRoom()
    await becomes(200)
    await stays(200)
    expect([count('health.unready'), count('health.ready')]).toEqual([1, 1])
    expect(server.program.stderr).toContain('database or disk is full')
  },
)
