import {
  type GrowthName,
  type GrowthResults,
  ratio,
  type StoreResults,
  targetOf,
} from './support/results.ts'
import { countsOf, medianOf, pointOf, twoDigits, whole } from './tables.ts'

// Set a background, so that the charts are readable in every theme.
const style = `
  .back { fill: #ffffff; stroke: #d0d7de } text { font: 11px system-ui, sans-serif; fill: #1f2328 }
  .head { font-size: 14px; font-weight: 600 } .faint { fill: #59636e } .end { text-anchor: end } .mid { text-anchor: middle }
  .value { fill: #59636e; paint-order: stroke; stroke: #ffffff; stroke-width: 3px }
  .ours { fill: #1a7f37 } .alone { fill: #6fbf82 } .peer { fill: #8c959f } .line { stroke: #cf222e; stroke-dasharray: 4 3 }
  .axis { stroke: #d0d7de } .token { color: #0969da } .resources { color: #1a7f37 } .refresh { color: #9a6700 }
  polyline { fill: none; stroke: currentColor; stroke-width: 2 } .key { fill: currentColor } .sqlite { stroke-dasharray: 5 3 }
  @media (prefers-color-scheme: dark) {
    .back { fill: #0d1117; stroke: #3d444d } text { fill: #f0f6fc } .faint { fill: #9198a1 } .axis { stroke: #3d444d }
    .value { fill: #9198a1; stroke: #0d1117 }
    .ours { fill: #3fb950 } .alone { fill: #2a7a3b } .peer { fill: #656c76 } .line { stroke: #f85149 }
    .token { color: #4493f8 } .resources { color: #3fb950 } .refresh { color: #d29922 }
  }`

const text = (x: number, y: number, of: string, kind = ''): string =>
  `<text x="${x}" y="${y}" class="${kind}">${of.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</text>`

const picture = (width: number, height: number, title: string, body: readonly string[]): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${title}</title><style>${style}</style>
<rect class="back" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="6"/>
${body.join('\n')}
</svg>
`

const storeTitles = { sqlite: 'SQLite', postgres: 'PostgreSQL' } as const
const shown = ['token', 'resource', 'introspect', 'refresh', 'key'] as const
const bar = { height: 13, gap: 3, left: 200, width: 200, panel: 460 } as const

/** Draws the requests per second of each server relative to the floor, as bars for each kind of request. */
const barsOf = (results: StoreResults, x: number, scale: number): { body: string[]; y: number } => {
  const floor = targetOf(results, 'floor')
  const servers = results.targets.filter(({ role }) => role !== 'floor')
  const body = [
    text(x + 16, 28, `${storeTitles[results.store]}: requests a second ÷ floor`, 'head'),
  ]
  let y = 44
  for (const work of shown) {
    const rows = servers.flatMap((target) => {
      const found = ratio(target.works[work], floor?.works[work])
      return found ? [{ target, median: found.median }] : []
    })
    if (rows.length === 0) continue
    y += 16
    body.push(text(x + 16, y, work, 'head'))
    y += 8
    const at = x + bar.left + bar.width / scale
    const end = y + rows.length * (bar.height + bar.gap)
    const line = `<line class="line" x1="${at}" x2="${at}" y1="${y - 3}" y2="${end}"/>`
    const values: string[] = []
    for (const { target, median } of rows) {
      const kind = target.role === 'peer' ? 'peer' : target.name === 'ours' ? 'ours' : 'alone'
      const length = Math.max(1, (median / scale) * bar.width).toFixed(1)
      body.push(
        text(x + bar.left - 6, y + bar.height - 2.5, target.title, 'end'),
        `<rect class="${kind}" x="${x + bar.left}" y="${y}" width="${length}" height="${bar.height}" rx="2"/>`,
      )
      const after = x + bar.left + Number(length) + 5
      values.push(text(after, y + bar.height - 2.5, twoDigits(median), 'value'))
      y += bar.height + bar.gap
    }
    body.push(line, ...values)
  }
  return { body, y }
}

export const comparisonChart = (all: readonly StoreResults[]): string => {
  const ratios = all.flatMap((results) =>
    results.targets.flatMap(({ works }) =>
      shown.map((work) => ratio(works[work], targetOf(results, 'floor')?.works[work])?.median ?? 0),
    ),
  )
  const scale = Math.max(1.2, ...ratios)
  const panels = all.map((results, index) => barsOf(results, index * bar.panel, scale))
  const height = Math.max(...panels.map(({ y }) => y)) + 36
  const note = text(
    16,
    height - 14,
    'The dashed line is the floor: bare node:http with one SQL statement per request, and two per refresh.',
    'faint',
  )
  const title = 'Requests a second of each server against the floor'
  return picture(bar.panel * all.length, height, title, [
    ...panels.flatMap(({ body }) => body),
    note,
  ])
}

const lines = ['token', 'resources', 'refresh'] as const
const panel = { width: 300, height: 230, left: 52, top: 50, plot: 220, tall: 140 } as const
const axes: Readonly<Record<GrowthName, { title: string; figure: 'cpu' | 'requestsPerSecond' }>> = {
  rows: { title: 'µs for a request, by tokens', figure: 'cpu' },
  connections: { title: 'µs for a request, by connections', figure: 'cpu' },
  processes: { title: 'requests a second, by processes', figure: 'requestsPerSecond' },
}

const linesOf = (all: readonly GrowthResults[], of: GrowthName, x: number): readonly string[] => {
  const { title, figure } = axes[of]
  const counts = countsOf(all, of)
  const series = all.flatMap((results) =>
    lines.map((work) => ({
      kind: `${work} ${results.store}`,
      values: counts.map((count) => medianOf(pointOf(results, of, count)?.works[work], figure)),
    })),
  )
  const top = Math.max(...series.flatMap(({ values }) => values.filter(Number.isFinite)), 1)
  const left = x + panel.left
  const bottom = panel.top + panel.tall
  const across = (index: number) => left + (panel.plot * (index + 0.5)) / counts.length
  const up = (value: number) => bottom - (panel.tall * value) / top
  return [
    text(x + 16, 28, title, 'head'),
    ...[0, 0.5, 1].flatMap((share) => [
      `<line class="axis" x1="${left}" x2="${left + panel.plot}" y1="${up(top * share)}" y2="${up(top * share)}"/>`,
      text(left - 5, up(top * share) + 4, whole(top * share), 'end faint'),
    ]),
    ...counts.map((count, index) => text(across(index), bottom + 16, whole(count), 'mid faint')),
    ...series.map(({ kind, values }) => {
      const points = values.flatMap((value, index) =>
        Number.isFinite(value) ? [`${across(index).toFixed(1)},${up(value).toFixed(1)}`] : [],
      )
      return `<polyline class="${kind}" points="${points.join(' ')}"/>`
    }),
  ]
}

export const growthChart = (all: readonly GrowthResults[]): string => {
  const names = ['rows', 'connections', 'processes'] as const
  const legend = lines.flatMap((work, index) => [
    `<rect class="key ${work}" x="${16 + index * 100}" y="${panel.height - 15}" width="14" height="4"/>`,
    text(36 + index * 100, panel.height - 9, work),
  ])
  const note = text(
    330,
    panel.height - 9,
    'Solid lines are PostgreSQL, dashed lines SQLite.',
    'faint',
  )
  const body = names.flatMap((of, index) => linesOf(all, of, index * panel.width))
  return picture(panel.width * names.length, panel.height, 'Growth', [...body, ...legend, note])
}
