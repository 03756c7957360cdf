import type { Endpoint } from '../../plug-ins.ts'

/**
 * A script for the application's pages. The script adds the session's JWT to each `fetch` request to the same origin.
 * Each of these pages contains the JWT in the hidden field `authorized_token`.
 */
export const sessionScriptEndpoint: Endpoint = {
  path: ({ oauthPrefix }) => `${oauthPrefix}/session.js`,
  methods: ['GET'],
  errors: 'json',
  async handle(_request, { settings }) {
    const { jwtAuthHeader, jwtAuthHeaderType } = settings
    const type = jwtAuthHeaderType === null ? '' : `${jwtAuthHeaderType} `
    return new Response(script(JSON.stringify(jwtAuthHeader), JSON.stringify(type)), {
      headers: {
        'content-type': 'text/javascript; charset=utf-8',
        'cache-control': 'public, max-age=3600',
        'x-content-type-options': 'nosniff',
      },
    })
  },
}

const script = (header: string, type: string): string => `'use strict';
(() => {
  const send = window.fetch
  window.fetch = (input, init) => {
    const request = new Request(input, init)
    const field = document.querySelector('input[name="authorized_token"]')
    const isOwn = new URL(request.url).origin === location.origin
    if (field && isOwn && !request.headers.has(${header})) request.headers.set(${header}, ${type} + field.value)
    return send(request)
  }
})()
`
