import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createApp } from '../../../examples/express/src/app.ts'
import { drive } from '../../contracts/adapter/drive.ts'

drive(async (server, prefix) => {
  const http = createApp(server, prefix || '/').listen(0, '127.0.0.1')
  await once(http, 'listening')
  return (http.address() as AddressInfo).port
})
