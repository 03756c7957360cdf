import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import express from 'express'

const { ISSUER = '', CLIENT_ID = '', PORT = '3003' } = process.env
const library = fileURLToPath(import.meta.resolve('oidc-client-ts'))

const app = express()
app.get('/settings.json', (_request, response) => {
  response.json({ issuer: ISSUER, clientId: CLIENT_ID })
})
app.get('/oidc-client-ts.min.js', (_request, response) => {
  response.sendFile(join(library, '../../browser/oidc-client-ts.min.js'))
})
app.use(express.static(import.meta.dirname))
app.listen(Number(PORT), () => console.log(`Open http://localhost:${PORT}`))
