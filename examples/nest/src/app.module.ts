// The parts of the service.
import { Module } from '@nestjs/common'
import { TerminusModule } from '@nestjs/terminus'
import { HealthController } from './health.controller.ts'
import { OrdersController } from './orders.controller.ts'
import { OrdersService } from './orders.service.ts'
import { ZooKeeperModule } from './zookeeper.module.ts'

const { ZOOKEEPER = 'localhost:2181', SESSION_TIMEOUT = '10000' } = process.env

@Module({
  imports: [ZooKeeperModule.forRoot(ZOOKEEPER, { sessionTimeout: Number(SESSION_TIMEOUT) }), TerminusModule],
  controllers: [OrdersController, HealthController],
  providers: [OrdersService],
})
export class AppModule {}
