import { randomBytes } from 'node:crypto'
import { settingsFrom } from 'svc-oauth2server'
import { describe, expect, test } from 'vitest'
import { type Instrument, instruments } from '../../src/server/telemetry/instruments.ts'
import { root, runNode } from '../support/processes.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { ping } from '../support/user-agent.ts'

const metricsToken = randomBytes(24).toString('base64url')

const scrape = ({ issuer }: TestServer, authorization = `Bearer ${metricsToken}`) =>
  fetch(`${issuer}/metrics`, { headers: { authorization } })

/** Parses the samples of a page in Prometheus's text format, which must be valid. */
const samplesOf = (page: string): ReadonlyMap<string, number> => {
  const samples = new Map<string, number>()
  const types = new Map<string, string>()
  for (const line of page.trimEnd().split('\n')) {
    const [, name = '', type = ''] = /^# TYPE (\S+) (counter|gauge|histogram)$/.exec(line) ?? []
    if (name !== '') types.set(name, type)
    if (line.startsWith('#')) continue
    const sample = /^([a-zA-Z_:][\w:]*)(\{(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\.)*",?)*\})? (\S+)$/
    const [, metric = '', labels = '', value = ''] = sample.exec(line) ?? []
    expect([...types.keys()], line).toContain(metric.replace(/_(?:bucket|sum|count)$/, ''))
    expect(Number(value.replace('+Inf', 'Infinity')), line).not.toBeNaN()
    expect(samples.has(metric + labels), line).toBe(false)
    samples.set(metric + labels, Number(value))
  }
  return samples
}

describe('/metrics', () => {
  test('is disabled by default, so that the application can serve the path', async () => {
    await using app = await startServer()
    expect(app.server.handles('/metrics')).toBe(false)
    expect((await scrape(app)).status).toBe(404)
  })

  test('requires the token', async () => {
    await using app = await startServer({ metricsToken })
    const refused = [
      '',
      'Bearer',
      'Bearer ',
      'Bearer null',
      `Bearer ${metricsToken.slice(0, -1)}`,
      `Bearer ${metricsToken}x`,
      `Bearer ${metricsToken} ${metricsToken}`,
      `Bearer ${metricsToken}, Bearer ${metricsToken}`,
      `Basic ${metricsToken}`,
      `Bearer ${await app.personalToken()}`,
    ]
    for (const authorization of refused) {
      const response = await scrape(app, authorization)
      expect([authorization, response.status]).toEqual([authorization, 401])
      expect(response.headers.get('www-authenticate')).toBe('Bearer realm="metrics"')
      expect(await response.text()).not.toContain('oauth2server_')
    }
    const inQuery = await fetch(`${app.issuer}/metrics?access_token=${metricsToken}`)
    expect(inQuery.status).toBe(401)
    const response = await scrape(app, `bearer ${metricsToken}`)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(response.headers.get('cache-control')).toBe('no-store')
    const posted = await fetch(`${app.issuer}/metrics`, { method: 'POST' })
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })

  test('returns metrics without an OpenTelemetry SDK in the application', async () => {
    await using app = await startServer({ metricsToken, basePath: '/auth' })
    await ping(app, await app.personalToken())
    await ping(app, 'A'.repeat(43))
    const samples = samplesOf(await (await scrape(app)).text())
    const lookups = (outcome: string) =>
      samples.get(`oauth2server_token_lookups_total{oauth2server_outcome="${outcome}"}`)
    expect([lookups('valid'), lookups('unknown')]).toEqual([1, 1])
    const request =
      'http_request_method="GET",http_route="/auth/oauth/ping",http_response_status_code="200"'
    expect(samples.get(`oauth2server_request_duration_count{${request}}`)).toBe(1)
    expect(samples.get(`oauth2server_request_duration_bucket{${request},le="+Inf"}`)).toBe(1)
    const operation = 'oauth2server_store_operation="tokens.findByAccess"'
    expect(samples.get(`oauth2server_store_operation_duration_count{${operation}}`)).toBe(2)
    const known: readonly Instrument[] = Object.values(instruments)
    const names = known.map(({ name }) => name.replaceAll('.', '_'))
    const strange = [...samples.keys()].filter((key) => !names.some((name) => key.startsWith(name)))
    expect(strange).toEqual([])
  })

  test('is separate for two servers in one process', async () => {
    await using one = await startServer({ metricsToken })
    await using other = await startServer({ metricsToken })
    await ping(one, 'A'.repeat(43))
    expect(await (await scrape(one)).text()).toContain('outcome="unknown"')
    expect(await (await scrape(other)).text()).not.toContain('outcome="unknown"')
  })

  test.each(['short', 'with a space in the middle', 'ä'.repeat(30), ''])(
    'rejects the token %j, without repeating it in a message',
    async (wrong) => {
      const problem = await startServer({ metricsToken: wrong }).then(
        () => undefined,
        (error: Error) => error.message,
      )
      expect(problem).toMatch(/metricsToken \(OAUTH2SERVER_METRICS_TOKEN\) accepts 22 to 255/)
      if (wrong !== '') expect(problem).not.toContain(wrong)
    },
  )

  test('does not repeat an invalid token of the environment in a message', () => {
    const wrong = { OAUTH2SERVER_METRICS_TOKEN: 'half-a-secret' }
    expect(() => settingsFrom(wrong)).toThrow(/OAUTH2SERVER_METRICS_TOKEN accepts 22 to 255/)
    expect(() => settingsFrom(wrong)).not.toThrow(/half-a-secret/)
  })

  test('loads its packages only if it is enabled', async () => {
    const away = `
      import { registerHooks } from 'node:module'
      registerHooks({
        resolve(name, context, next) {
          if (/^@opentelemetry.(?:sdk|exporter)/.test(name)) throw new Error(name + ' is away')
          return next(name, context)
        },
      })`
    const program = `
      import { createTestServer } from '${root}/src/server/testing.ts'
      await createTestServer()
      console.log('off')
      await createTestServer({ metricsToken: '${metricsToken}' })`
    const hooks = `data:text/javascript,${encodeURIComponent(away)}`
    const args = ['--import', hooks, '--input-type=module', '--eval', program]
    await using running = runNode(args)
    expect(await running.exited).toMatchObject({ code: 1 })
    expect(running.stdout).toBe('off\n')
    expect(running.stderr).toMatch(
      /InvalidSettings.*\n.*metricsToken .* npm install @opentelemetry\/sdk-metrics @opentelemetry\/exporter-prometheus/,
    )
  })
})
