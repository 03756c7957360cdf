import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Target } from './target.ts'
import type { Call } from './works.ts'

const run = promisify(execFile)

export interface Load {
  readonly connections: number
  readonly seconds: number
}

export interface Measured {
  readonly requestsPerSecond: number
  /** The 99th percentile of the response times, in milliseconds. */
  readonly p99: number
  /** Microseconds of CPU time in the server, per request. */
  readonly cpu: number
  /** Bytes of memory that the server uses at the end of the load. */
  readonly memory: number
  readonly requests: number
}

/** Repeats one request with wrk, which runs on the second core. @throws Error if a response is not successful */
export const load = async (
  target: Target,
  call: Call,
  { connections, seconds }: Load,
): Promise<Measured> => {
  const folder = await mkdtemp(join(tmpdir(), 'oauth2server-bench-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', remove)
  try {
    const script = join(folder, 'call.lua')
    // Remove the refresh tokens from the list, because each can be sent only once.
    const refreshTokens = call.refreshTokens?.splice(0, connections + spare)
    await writeFile(script, scriptOf({ ...call, ...(refreshTokens && { refreshTokens }) }))
    const before = await target.usage()
    const stdout = await wrk(target, script, { connections, seconds })
    const after = await target.usage()
    const [, json = ''] = /RESULT (.*)/.exec(stdout) ?? []
    const { requests, microseconds, p99, failed } = JSON.parse(json)
    if (failed > 0)
      throw new Error(`${failed} of ${requests} requests to ${target.name} failed:\n${stdout}`)
    return {
      requestsPerSecond: requests / (microseconds / 1e6),
      p99: p99 / 1000,
      cpu: (after.cpu - before.cpu) / requests,
      memory: after.memory,
      requests,
    }
  } finally {
    process.off('exit', remove)
    remove()
  }
}

const wrk = async (target: Target, script: string, { connections, seconds }: Load) => {
  const { stdout } = await run('taskset', [
    ...['-c', '1', 'wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '--latency'],
    // Set a long timeout, so that a slow response appears in the p99 instead of as a failure.
    ...['--timeout', '30s'],
    ...['-s', script, target.origin],
  ])
  return stdout
}

/** Requests of which each is sent once. */
export interface Series {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** The `Cookie` header or the body of each request. */
  readonly each: readonly string[]
  readonly status: readonly number[]
}

/**
 * Sends a series of requests with wrk. Ends when all responses except those of the last requests have arrived, so that
 * each connection has a request in flight all the time.
 * @returns the requests a second, and the codes in the redirects
 * @throws Error if a response has another status
 */
export const loadSeries = async (
  target: Target,
  series: Series,
  connections: number,
): Promise<{ requestsPerSecond: number; requests: number; codes: readonly string[] }> => {
  const folder = await mkdtemp(join(tmpdir(), 'oauth2server-bench-'))
  try {
    const script = join(folder, 'series.lua')
    await writeFile(script, seriesScript(series, connections))
    const stdout = await wrk(target, script, { connections, seconds: 120 })
    const [, json = ''] = /RESULT (.*)/.exec(stdout) ?? []
    if (json === '') throw new Error(`${target.name} did not respond as expected:\n${stdout}`)
    const { requests, microseconds, codes } = JSON.parse(json)
    return { requestsPerSecond: requests / (microseconds / 1e6), requests, codes: codes ?? [] }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The number of refresh tokens in addition to one token for each connection. */
const spare = 16

const luaString = (text: string): string => JSON.stringify(text)

const scriptOf = ({ method, path, headers, body, refreshTokens, tokens }: Call): string => `
wrk.method = ${luaString(method)}
wrk.path = ${luaString(path)}
${Object.entries(headers)
  .map(([name, value]) => `wrk.headers[${luaString(name)}] = ${luaString(value)}`)
  .join('\n')}
${body === undefined ? '' : `wrk.body = ${luaString(body)}`}
${refreshTokens ? rotating(refreshTokens) : ''}
${tokens ? takingTurns(tokens) : ''}
function done(summary, latency)
  local e = summary.errors
  io.write(string.format('RESULT {"requests":%d,"microseconds":%d,"p99":%d,"failed":%d}\\n',
    summary.requests, summary.duration, latency:percentile(99), e.connect + e.read + e.write + e.status + e.timeout))
end
`

// Use more tokens than connections, because each connection has a request in flight.
const rotating = (tokens: readonly string[]): string => `
local tokens = {${tokens.map(luaString).join(',')}}
local first, last = 1, #tokens
local start = wrk.body
function request()
  local token = tokens[first]
  tokens[first] = nil
  first = first + 1
  return wrk.format(nil, nil, nil, start .. token)
end
function response(status, headers, body)
  local token = body:match('"refresh_token" *: *"([^"]+)"')
  if token then
    last = last + 1
    tokens[last] = token
  end
end
`

// Build all requests before the measurement, because wrk itself must use little time per request.
const takingTurns = (tokens: readonly string[]): string => `
local requests, turn = {}, 0
function init()
  for index, token in ipairs({${tokens.map(luaString).join(',')}}) do
    requests[index] = wrk.format(nil, nil, { Host = wrk.headers.Host, Authorization = 'Bearer ' .. token })
  end
end
function request()
  turn = turn % #requests + 1
  return requests[turn]
end
`

// wrk only ends after a given time, so the script ends the process after the last response. The clock of Lua only
// counts processor time.
const seriesScript = (
  { method, path, headers, each, status }: Series,
  connections: number,
): string => `
local ffi = require('ffi')
ffi.cdef('typedef struct { long s; long us; } moment; int gettimeofday(moment *at, void *zone);')
local function now()
  local at = ffi.new('moment')
  ffi.C.gettimeofday(at, nil)
  return tonumber(at.s) * 1e6 + tonumber(at.us)
end
local method, path, headers = ${luaString(method)}, ${luaString(path)}, {}
${Object.entries(headers)
  .map(([name, value]) => `headers[${luaString(name)}] = ${luaString(value)}`)
  .join('\n')}
local expected = { ${status.map((each) => `[${each}] = true`).join(', ')} }
local each, requests, codes, next, arrived, began = {${each.map(luaString).join(',')}}, {}, {}, 0, 0, nil
function init()
  headers['Host'] = wrk.headers.Host
  for index, text in ipairs(each) do
    if method == 'GET' then headers['Cookie'] = text end
    requests[index] = wrk.format(method, path, headers, method == 'POST' and text or nil)
  end
end
function request()
  began = began or now()
  next = next + 1
  return requests[next]
end
function response(status, headers, body)
  if not expected[status] then
    io.write('STATUS ' .. status .. ' ' .. body .. '\\n')
    os.exit(0)
  end
  arrived = arrived + 1
  local code = method == 'GET' and (headers['Location'] or headers['location'] or ''):match('[?&]code=([^&]+)')
  if code then codes[#codes + 1] = '"' .. code .. '"' end
  if arrived < #requests - ${connections} then return end
  io.write(string.format('RESULT {"requests":%d,"microseconds":%d,"codes":[%s]}\\n',
    arrived, now() - began, table.concat(codes, ',')))
  os.exit(0)
end
`
