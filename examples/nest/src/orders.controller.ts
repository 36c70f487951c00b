import { Controller, Get, HttpCode, Inject, Param, Post } from '@nestjs/common'
import { OrdersService } from './orders.service.ts'

@Controller('orders')
export class OrdersController {
  readonly #orders: OrdersService

  constructor(@Inject(OrdersService) orders: OrdersService) {
    this.#orders = orders
  }

  @Post(':id/charge')
  @HttpCode(200)
  charge(@Param('id') id: string): Promise<{ charged: 'now' | 'before' }> {
    return this.#orders.charge(id)
  }

  @Get(':id')
  async get(@Param('id') id: string): Promise<{ charged: boolean }> {
    return { charged: await this.#orders.isCharged(id) }
  }
}
