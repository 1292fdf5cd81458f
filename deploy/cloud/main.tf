# Spot machines in three regions, which work for a hub of yours and end by themselves: after "hours",
# or when the hub has had no work for ten minutes. See docs/how-to/recipes.md. This file was parsed and
# not applied.
terraform {
  required_version = ">= 1.5"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.0"
    }
  }
}

variable "join" {
  description = "What bench hub printed after \"bench join\": HUB:7000#TOKEN. The token must be for as many machines as there are."
  type        = string
  sensitive   = true
}

variable "bench" {
  description = "The address of the program bench for linux/arm64, such as that of a release."
  type        = string
}

variable "sha256" {
  description = "The digest of that program."
  type        = string
}

variable "machines" {
  description = "How many machines there are in each region."
  type        = number
  default     = 4
}

variable "hours" {
  description = "After how many hours every machine powers off, and is gone."
  type        = number
  default     = 2
}

variable "type" {
  description = "The type of machine, for arm64."
  type        = string
  default     = "c7g.large"
}

locals {
  user_data = templatefile("${path.module}/user-data.yaml", {
    join   = var.join
    bench  = var.bench
    sha256 = var.sha256
    hours  = var.hours
  })
}

provider "aws" {
  alias  = "ireland"
  region = "eu-west-1"
}

provider "aws" {
  alias  = "virginia"
  region = "us-east-1"
}

provider "aws" {
  alias  = "tokyo"
  region = "ap-northeast-1"
}

module "ireland" {
  source    = "./region"
  providers = { aws = aws.ireland }
  machines  = var.machines
  type      = var.type
  user_data = local.user_data
}

module "virginia" {
  source    = "./region"
  providers = { aws = aws.virginia }
  machines  = var.machines
  type      = var.type
  user_data = local.user_data
}

module "tokyo" {
  source    = "./region"
  providers = { aws = aws.tokyo }
  machines  = var.machines
  type      = var.type
  user_data = local.user_data
}
