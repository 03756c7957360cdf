// Runs several processes of this server on one port with node:cluster. The first process distributes the connections.
import cluster, { type Worker } from 'node:cluster'
import { fileURLToPath } from 'node:url'
import { announce, isSeeded } from '../support/serve.ts'
import type { Ready, Usage, Works } from '../support/works.ts'

const nextOf = <T>(worker: Worker): Promise<T> =>
  new Promise((resolve) => worker.once('message', resolve))

cluster.setupPrimary({ exec: fileURLToPath(new URL('ours.ts', import.meta.url)) })
const workers: Worker[] = []
let port = 0
let works: Works = {}
for (let count = 0; count < Number(process.env.BENCH_PROCESSES); count += 1) {
  // Only the first worker creates the clients and tokens that the requests need.
  const worker = cluster.fork({ BENCH_SEED: isSeeded && count === 0 ? 'on' : 'off' })
  const ready = await nextOf<Ready>(worker)
  if (count === 0) ({ port, works } = ready)
  workers.push(worker)
}
announce(port, works, async () => {
  const replies = workers.map((worker) => {
    const response = nextOf<Usage>(worker)
    worker.send('usage')
    return response
  })
  return Promise.all(replies)
})
