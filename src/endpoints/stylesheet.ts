import { readFile } from 'node:fs/promises'
import type { Endpoint } from '../extension.ts'

/** The stylesheet of the pages, served by us: no page loads anything from elsewhere. */
export const stylesheetEndpoint: Endpoint = {
  path: ({ oauthPrefix }) => `${oauthPrefix}/style.css`,
  methods: ['GET'],
  errors: 'json',
  async handle() {
    const sheets = await Promise.all(sources.map((source) => readFile(new URL(source), 'utf8')))
    return new Response(sheets.join('\n'), {
      headers: {
        'content-type': 'text/css; charset=utf-8',
        'cache-control': 'public, max-age=3600',
        'x-content-type-options': 'nosniff',
      },
    })
  },
}

const sources = [
  import.meta.resolve('simpledotcss/simple.min.css'),
  new URL('../pages/pages.css', import.meta.url),
]
