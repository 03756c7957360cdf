import { pageScript } from '../../../pages/parts/script.ts'
import type { Endpoint } from '../../plug-ins.ts'
import { assetOf, assetResponse } from './asset.ts'

/** The script of the pages. Every page also works without JavaScript. */
export const pageScriptEndpoint: Endpoint = {
  path: ({ oauthPrefix }) => `${oauthPrefix}/page.js`,
  methods: ['GET'],
  errors: 'json',
  async handle(request) {
    return assetResponse(request, script)
  },
}

const script = assetOf(pageScript, 'text/javascript; charset=utf-8')
