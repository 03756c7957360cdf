/**
 * Runs a PostgreSQL cluster and a Redis for `startServices()`, and writes their URLs to standard output. When standard
 * input closes, stops both and deletes their data. Standard input also closes when the parent process is killed. With
 * `--run-folder`, all files are in one folder for the whole run.
 */
import { once } from 'node:events'
import { startPostgres } from './own-postgres.ts'
import { startRedis } from './redis.ts'
import { runFolder } from './run-folder.ts'
import { missingServices } from './services.ts'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const over = Promise.race([
  once(process.stdin.resume(), 'close'),
  ...signals.map((signal) => once(process, signal)),
])
// Ignore write errors, because the parent process may have exited.
process.stdout.on('error', () => undefined)

// The services and the processes of the run create their files in this folder.
await using folder = process.argv.includes('--run-folder') ? await runFolder() : undefined
if (folder) process.env.TMPDIR = folder.path

const missing = await missingServices()
await using redis = missing.includes('redis') ? await startRedis() : undefined
const settings = [
  // The maximum number of connections of all workers, nodes and pools of a run.
  'max_connections=500',
  // In memory, frequent checkpoints cost less than a long write-ahead log.
  ...(folder ? ['max_wal_size=256MB'] : []),
]
await using postgres = missing.includes('postgres') ? await startPostgres(settings) : undefined
const env = {
  ...(folder && { TMPDIR: folder.path }),
  ...(postgres && { TEST_POSTGRES_URL: postgres.url }),
  ...(redis && { TEST_REDIS_URL: redis.url }),
}
process.stdout.write(`${JSON.stringify(env)}\n`)
await over
process.stdin.destroy()
